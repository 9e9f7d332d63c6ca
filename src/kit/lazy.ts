/**
 * Makes a value when it is first asked for. For what is costly and seldom needed: every command waits for what modules do when they are
 * loaded.
 */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
