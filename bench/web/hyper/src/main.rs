//! hyper on tokio's multi_thread runtime: hyper_files ROOT PORT WORKERS
//! Files are read into memory at the start, and no timeout is set: what is measured is hyper, not a file cache. hyper writes the Date itself.
//! Link-time optimization and one unit of code generation are what its users build with for speed.

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderValue, CONTENT_TYPE, LAST_MODIFIED, SERVER};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

type Files = HashMap<String, Bytes>;

fn read_all(folder: &Path, under: &str, files: &mut Files) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = format!("{}/{}", under, entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            read_all(&entry.path(), &name, files);
        } else {
            files.insert(name, std::fs::read(entry.path()).expect("a file").into());
        }
    }
}

fn answer(files: &Files, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let found = files.get(request.uri().path());
    let mut response = Response::new(Full::new(found.cloned().unwrap_or_default()));
    if found.is_none() {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    let headers = response.headers_mut();
    headers.insert(SERVER, HeaderValue::from_static("hyper"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(LAST_MODIFIED, HeaderValue::from_static("Sat, 21 Nov 2026 12:00:00 GMT"));
    response
}

async fn serve(port: u16, files: Arc<Files>) {
    let listener = TcpListener::bind(("127.0.0.1", port)).await.expect("a free port");
    println!("listening on 127.0.0.1:{port}");
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(_) => continue,
        };
        let _ = stream.set_nodelay(true);
        let files = files.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let response = answer(&files, &request);
                async move { Ok::<_, Infallible>(response) }
            });
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let (root, port, workers) = match &words[..] {
        [_, root, port, workers] => (root, port, workers),
        _ => panic!("hyper_files ROOT PORT WORKERS"),
    };
    let mut files = Files::new();
    read_all(Path::new(root), "", &mut files);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers.parse().expect("a number")).enable_io().build().expect("a runtime");
    runtime.block_on(async {
        // A task of its own: what block_on runs is on no worker.
        tokio::spawn(serve(port.parse().expect("a port"), Arc::new(files))).await.expect("the server");
    });
}
