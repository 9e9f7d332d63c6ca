/** The store could not take a write (disk full, I/O error, read-only file system). Nothing of the request was kept. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}

/** A refusal to start or to act on a data directory; the message tells the operator what to do. */
export class DataDirectoryError extends Error {
  override readonly name = "DataDirectoryError";
}

/**
 * Turns an error of a full disk into one that names the place: SQLite names none, and a failed copy names its source.
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

/** Whether an error of SQLite comes from the disk or file and not from the statement, so that a later attempt may succeed. */
export function isStorageTrouble(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return (
    typeof code === "string" &&
    /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|BUSY|LOCKED|PROTOCOL|CORRUPT|NOTADB|NOMEM)/.test(code)
  );
}

/** What the system lacks for a while, or a disk that does not answer; it is no fault of what was to be done. */
const isSystemTrouble = (error: unknown): boolean =>
  /^(?:EMFILE|ENFILE|ENOMEM|EIO)$/.test(String((error as { code?: unknown } | null)?.code));

/** The cause of an error that means trouble with the store or the system, for the log; undefined for any other error. */
export function storeTrouble(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error.cause ?? error;
  return isStorageTrouble(error) || isSystemTrouble(error) ? error : undefined;
}
