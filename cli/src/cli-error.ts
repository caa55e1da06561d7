/** A problem that the operator can solve: shown as one line, without a stack. */
export class CliError extends Error {
  readonly exitCode: number;

  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "CliError";
    this.exitCode = options.exitCode ?? EXIT_FAILED;
  }
}

export const EXIT_FAILED = 1;
/** The command is invalid or incomplete and was not run. */
export const EXIT_USAGE = 2;

export const usageError = (message: string): CliError =>
  new CliError(message, { exitCode: EXIT_USAGE });
