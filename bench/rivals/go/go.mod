module go_goroutine

go 1.19
