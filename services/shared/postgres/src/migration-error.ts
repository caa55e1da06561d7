/** The migrations do not fit the database; the message is meant for the operator. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}
