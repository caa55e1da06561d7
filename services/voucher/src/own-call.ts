import { type Call, ownCall as callOf } from "@scrip/rpc";

import type { Deps } from "./deps.ts";

/** A call of the voucher service itself in a project; undefined when the project was deleted. */
export const ownCall = (
  { findProject }: Pick<Deps, "findProject">,
  projectId: string,
): Promise<Call | undefined> => callOf(findProject, { service: "voucher", projectId });
