/** The store could not take a write (disk full, I/O error, read-only file system). Nothing of the request was kept. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}

/** A refusal to start or to act on a data directory; the message tells the operator what to do. */
export class DataDirectoryError extends Error {
  override readonly name = "DataDirectoryError";
}

/**
 * Says which disk is full, where one is: SQLite does not, and a copy that fails names what was copied.
 * @param needs what takes the space
 * @returns any other error as it is
 */
export function whereFull(place: string, error: unknown, needs: string): unknown {
  if (!/^(?:SQLITE_FULL|ENOSPC|EDQUOT)$/.test(String((error as { code?: unknown }).code))) return error;
  return new DataDirectoryError(`${place} has too little free space: ${needs}`);
}

/** The data directory belongs to a running server. */
export class DataDirectoryInUse extends Error {
  override readonly name = "DataDirectoryInUse";
}

/** Whether an error of SQLite tells of the disk or file rather than of what was asked for, so that asking again later may help. */
export function isStorageTrouble(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return (
    typeof code === "string" &&
    /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|BUSY|LOCKED|PROTOCOL|CORRUPT|NOTADB|NOMEM)/.test(code)
  );
}

/** What is the matter with the store, for the log, where an error means that; undefined for any other error. */
export function storeTrouble(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error.cause ?? error;
  return isStorageTrouble(error) ? error : undefined;
}
