//! W14's server by tokio: a task per connection, and a mutex per shard. It runs until a signal ends it; the port takes the place of the variant.
//! The number is not that of the hash that the C++ contenders have: a HashMap comes with SipHash, which is slower, and a user would leave it.

mod conversation;
mod resp;
mod shard;

use crate::report::Request;
use conversation::{Conversation, Step};
use shard::Shard;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;

const SHARDS: usize = 64;

struct Store {
    shards: Vec<Mutex<Shard>>,
}

impl Store {
    fn of(&self, key: &[u8]) -> &Mutex<Shard> {
        let hash = key.iter().fold(0xcbf29ce484222325u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100000001b3));
        &self.shards[((hash ^ (hash >> 32)) % SHARDS as u64) as usize]
    }
}

async fn serve(mut peer: TcpStream, store: Arc<Store>) {
    let mut with = Conversation::new();
    loop {
        match peer.read(with.room()).await {
            Ok(got) if got > 0 => with.add(got),
            _ => return,
        }
        let over = loop {
            let step = with.next();
            if step == Step::Shard {
                let mut here = store.of(with.key()).lock().unwrap();
                with.run(&mut here);
                continue;
            }
            if !with.output().is_empty() && peer.write_all(with.output()).await.is_err() {
                return;
            }
            with.clear_output();
            if step != Step::Full {
                break step == Step::Over;
            }
        };
        if over {
            return;
        }
    }
}

async fn accept_all(port: u16, store: Arc<Store>) {
    let door = TcpListener::bind(("127.0.0.1", port)).await.expect("a free port");
    loop {
        if let Ok((peer, _)) = door.accept().await {
            let _ = peer.set_nodelay(true);
            tokio::spawn(serve(peer, store.clone()));
        }
    }
}

pub fn serve_until_killed(asked: &Request) {
    let port = asked.variant.parse().expect("a port");
    let store = Arc::new(Store { shards: (0..SHARDS).map(|_| Mutex::new(Shard::new())).collect() });
    let on = Builder::new_multi_thread().worker_threads(asked.workers).enable_io().build().expect("a runtime");
    // A task of a worker's: block_on runs on a thread that is none.
    let accepting = on.spawn(accept_all(port, store));
    let _ = on.block_on(accepting);
}
