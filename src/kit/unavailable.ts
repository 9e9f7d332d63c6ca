/** The store could not take a write (disk full, I/O error, read-only file system). Nothing of the request was kept. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}

/** A refusal to start or to act on a data directory; the message tells the operator what to do. */
export class DataDirectoryError extends Error {
  override readonly name = "DataDirectoryError";
}

/** The data directory belongs to a running server. */
export class DataDirectoryInUse extends Error {
  override readonly name = "DataDirectoryInUse";
}
