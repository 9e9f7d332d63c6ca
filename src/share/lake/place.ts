/** An object that lies in a lake. */
export interface Listed {
  readonly path: string;
  readonly bytes: number;
}

/** Where objects are put. Paths are relative to it. All reject when it cannot be reached, and nothing is known then. */
export interface Place {
  /** Changes with where it is; without credentials. */
  readonly name: string;
  /** Puts an object whole or not at all, over one of its name. */
  put(path: string, bytes: Uint8Array): Promise<void>;
  /** Takes one away; also one that is not there, or was put half. */
  remove(path: string): Promise<void>;
  list(): AsyncIterable<Listed>;
  /** Whether there is nothing at all, as where what it lies on is not mounted; false where that cannot be told. */
  isEmpty(): Promise<boolean>;
}
