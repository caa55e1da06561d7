/** The error output of a program; the error itself if there is none. */
export function complaintOf(error: unknown): string {
  const { stderr } = error as { readonly stderr?: string };
  return stderr?.trim() || reasonOf(error);
}

export const isDiskFull = (text: string): boolean => /No space left on device|ENOSPC/.test(text);

export const diskFullMessage = (folder: string): string =>
  `The disk that holds ${folder} is full. Free some space, or set SCRIP_DATA_DIR to a folder on another disk, and start again.`;

export const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
