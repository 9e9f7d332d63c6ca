/** A setting of the program: the environment variable that it is read from, and how help and docs describe it. */
export interface Setting<T> {
  readonly env: string;
  readonly flag?: string;
  readonly fallback: T;
  /** How the default reads in help and docs, where the value itself would mislead. */
  readonly shown?: string;
  readonly description: string;
  /** Its value is shown nowhere. */
  readonly secret?: true;
  /** Returns the value, or a sentence on what is wrong. */
  readonly read: (text: string) => { readonly value: T } | { readonly wrong: string };
}

/** Declares a setting. */
export function setting<T>(value: Setting<T>): Setting<T> {
  return value;
}
