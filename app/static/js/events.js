// Follows a stream of events. A browser gives up where the answer is none, as that of a server that is busy or away: then,
// it is asked again.
const AGAIN_AFTER = 10_000; // milliseconds

// Calls `handle` with the content of each event of this name, until it returns true.
export function follow(address, name, handle) {
  const source = new EventSource(address);
  source.addEventListener(name, (event) => {
    if (handle(JSON.parse(event.data))) source.close();
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) setTimeout(follow, AGAIN_AFTER, address, name, handle);
  });
}
