/** Runs work of the same key one at a time: otherwise the next would start from what the one before is about to change. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  after<T>(key: string, work: () => Promise<T>): Promise<T> {
    const own = (this.#last.get(key) ?? Promise.resolve()).catch(() => {}).then(work);
    const settled = own
      .catch(() => {})
      .finally(() => {
        if (this.#last.get(key) === settled) this.#last.delete(key);
      });
    this.#last.set(key, settled);
    return own;
  }
}
