import { setTimeout as sleep } from "node:timers/promises";

import { ApiError, notFound } from "@scrip/errors";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import type { LoyaltyProgram } from "../domain/loyalty-program.ts";
import { findPrograms } from "../store/loyalty-programs.ts";

/** A program arrives with its event, within about a second of its creation. */
const WAIT_MS = 3_000;
const POLL_MS = 50;

/** The program of a card; null for a card outside programs. Waits for a program that has not arrived yet. */
export async function findProgram(
  deps: Pick<Deps, "db">,
  projectId: string,
  campaignId: string | undefined,
): Promise<LoyaltyProgram | null> {
  if (campaignId === undefined) return null;
  const program = await awaitProgram(deps, projectId, campaignId);
  if (program === undefined) throw new ApiError("service_unavailable");
  return program;
}

/**
 * Waits for the program that a request names. The gateway has found its campaign, so that its event is late; other services
 * may name a campaign that does not exist.
 */
export async function requireProgram(
  deps: Pick<Deps, "db">,
  { project, caller }: Pick<Call, "project" | "caller">,
  campaignId: string,
): Promise<void> {
  const program = await awaitProgram(deps, project.id, campaignId);
  if (program !== undefined) return;
  throw caller.side === "service"
    ? notFound("campaign", campaignId)
    : new ApiError("service_unavailable");
}

async function awaitProgram(
  { db }: Pick<Deps, "db">,
  projectId: string,
  campaignId: string,
): Promise<LoyaltyProgram | undefined> {
  const end = performance.now() + WAIT_MS;
  for (;;) {
    const programs = await findPrograms(db, [{ projectId, campaignId }]);
    const program = programs.get(keyOf(projectId, campaignId));
    if (program !== undefined || performance.now() > end) return program;
    await sleep(POLL_MS);
  }
}
