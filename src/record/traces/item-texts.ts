/*
 * What the items of a trace delivery are hashes of: a session as it stood after the delivery, each span that it brought or replaced,
 * each label, each note. NUL separates, which neither ids nor JSON hold.
 */

export const sessionText = (externalId: string, document: string): string => `session\0${externalId}\0${document}`;

export const spanText = (sessionId: string, externalId: string, document: string): string =>
  `span\0${sessionId}\0${externalId}\0${document}`;

export const labelText = (document: string): string => `label\0${document}`;

/** Of a note, in bytes: it may hold NUL, too, which the commit before it does not. */
export const noteText = (commit: string, content: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`note\0${commit}\0`), content]);
