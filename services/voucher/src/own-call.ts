import type { Origin } from "@scrip/events";
import { type Call, ownCall as callOf } from "@scrip/rpc";

import type { Deps } from "./deps.ts";

/** A call of the voucher service itself in a project, because of `origin`; undefined when the project was deleted. */
export const ownCall = (
  { findProject }: Pick<Deps, "findProject">,
  projectId: string,
  origin: Origin | undefined,
): Promise<Call | undefined> => callOf(findProject, { service: "voucher", projectId, origin });
