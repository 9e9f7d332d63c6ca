/**
 * What somebody asked for cannot be done, for a reason they can understand and mend: the message is written for them. A command
 * prints it, a page shows it with its status.
 */
export class Complaint extends Error {
  override readonly name = "Complaint";
  /** HTTP status a page answers with. */
  readonly status: number;
  /** When it is worth trying again (429). */
  readonly retryAfterSeconds: number | undefined;
  constructor(message: string, status = 400, retryAfterSeconds?: number) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
