/**
 * What somebody asked for cannot be done, for a reason they can understand and mend: the message is written for them. A command
 * prints it, a page shows it with its status.
 */
export class Complaint extends Error {
  override readonly name = "Complaint";
  /** HTTP status a page answers with. */
  readonly status: number;
  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}
