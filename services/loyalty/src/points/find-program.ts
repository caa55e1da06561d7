import { setTimeout as sleep } from "node:timers/promises";

import { ApiError } from "@scrip/errors";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import type { LoyaltyProgram } from "../domain/loyalty-program.ts";
import { findPrograms } from "../store/loyalty-programs.ts";

/** A program arrives with its event, within about a second of its creation. */
const WAIT_MS = 3_000;
const POLL_MS = 50;

/** The program of a card; null for a card outside programs. Waits for a program that has not arrived yet. */
export async function findProgram(
  { db }: Pick<Deps, "db">,
  projectId: string,
  campaignId: string | undefined,
): Promise<LoyaltyProgram | null> {
  if (campaignId === undefined) return null;
  const end = performance.now() + WAIT_MS;
  for (;;) {
    const programs = await findPrograms(db, [{ projectId, campaignId }]);
    const program = programs.get(keyOf(projectId, campaignId));
    if (program !== undefined) return program;
    if (performance.now() > end) throw new ApiError("service_unavailable");
    await sleep(POLL_MS);
  }
}
