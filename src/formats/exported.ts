/**
 * The repository key of the stream that each device's OTLP entries have. OTLP numbers nothing and names no repository, so the server gives
 * the numbers, and no client's counter may share them.
 */
export const OTLP_STREAM = "(otlp)";

/** The keys that streams of a repository have; `""` for what names none. */
export const streamKeys = (repoKey: string): string[] => (repoKey === "" ? ["", OTLP_STREAM] : [repoKey]);

/** Marks every span that was exported: its session may have others, from the capture client. */
export const OTLP_MARK = { via: "otlp" } as const;

/** Whether a span was exported. @param document of the span */
export const isExported = (document: Readonly<Record<string, unknown>>): boolean => document.via === OTLP_MARK.via;
