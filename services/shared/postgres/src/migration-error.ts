/** The migrations and the database do not fit together; the message is meant for the operator. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}
