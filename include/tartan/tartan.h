#pragma once
/// The everyday headers: events, colors, coroutines, time, buffers and I/O.
///
/// Not here, to be included where they are needed: tartan/core/usable_memory.h, tartan/io/simulation.h, tartan/http/,
/// tartan/http_io/, tartan/http_server/, tartan/xdr/, tartan/rpc/ and the headers of components, which need another library: tartan/dns/answers.h,
/// tartan/dns/connect.h, tartan/dns/error.h, tartan/dns/resolver.h, and all of tartan/tls/ and tartan/http_client/.

#include <tartan/buf/bytes.h>
#include <tartan/buf/chain.h>
#include <tartan/buf/gate.h>
#include <tartan/buf/slice.h>
#include <tartan/core/abandonable_blocking.h>
#include <tartan/core/await_blocking.h>
#include <tartan/core/blocking.h>
#include <tartan/core/broadcast.h>
#include <tartan/core/channel.h>
#include <tartan/core/color.h>
#include <tartan/core/drained.h>
#include <tartan/core/event_batch.h>
#include <tartan/core/hints.h>
#include <tartan/core/in.h>
#include <tartan/core/join_handle.h>
#include <tartan/core/on.h>
#include <tartan/core/options.h>
#include <tartan/core/per_worker.h>
#include <tartan/core/post.h>
#include <tartan/core/result.h>
#include <tartan/core/runtime.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/sharded.h>
#include <tartan/core/shutdown.h>
#include <tartan/core/spawn.h>
#include <tartan/core/stop_token.h>
#include <tartan/core/strand.h>
#include <tartan/core/task.h>
#include <tartan/core/task_group.h>
#include <tartan/core/waiting.h>
#include <tartan/core/watch.h>
#include <tartan/core/when_all.h>
#include <tartan/core/when_any.h>
#include <tartan/core/work_guard.h>
#include <tartan/core/yield.h>
#include <tartan/io/address.h>
#include <tartan/io/any_stream.h>
#include <tartan/io/byte_stream.h>
#include <tartan/io/descriptor_watch.h>
#include <tartan/io/directory_watch.h>
#include <tartan/io/file.h>
#include <tartan/io/local.h>
#include <tartan/io/object.h>
#include <tartan/io/pipe.h>
#include <tartan/io/process.h>
#include <tartan/io/signal_set.h>
#include <tartan/io/stream.h>
#include <tartan/io/stream_writer.h>
#include <tartan/io/tcp.h>
#include <tartan/io/udp.h>
#include <tartan/time/interval.h>
#include <tartan/time/post_after.h>
#include <tartan/time/sleep.h>
#include <tartan/time/timer.h>
#include <tartan/time/with_timeout.h>
