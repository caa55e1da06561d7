import type { Database } from "@scrip/postgres";

import type { Directory } from "./auth/directory.ts";

export type Deps = {
  readonly db: Database;
  readonly directory: Directory;
  readonly newId: (prefix: "proj" | "app") => string;
  /** Real time in epoch milliseconds: tokens and keys do not follow sandbox clocks. */
  readonly clock: () => number;
  readonly tokenSeconds: number;
};
