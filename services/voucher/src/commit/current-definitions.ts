import { isDeepStrictEqual } from "node:util";

import type { Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import type { Part } from "../domain/commit.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import type { VoucherDefinition } from "../domain/voucher.ts";
import type { Templates } from "../loading/definition-cache.ts";
import type { VoucherTemplate } from "../mapping/voucher.ts";
import type { Command } from "./parse-command.ts";

/** Of each locked voucher the definition that counts, by `rowKey` of project and voucher. */
export type CurrentDefinitions = {
  readonly templates: Pick<Templates, "byId">;
  /** The commands, where what changed since is nothing that they were decided on. */
  readonly commands: readonly Command[];
};

/**
 * Reads, under the locks, the definitions that were changed since the commands were decided, and
 * lets those commands stand whose decision would be the same. One whose definition is forgotten by
 * now stays as it is, and is stale: that is never wrong.
 */
export async function currentDefinitions(
  tx: Queryable,
  { templates }: Deps,
  { commands, usages }: Batch,
): Promise<CurrentDefinitions> {
  const changed = findChanged(templates, { commands, usages });
  if (changed.length > 0) await templates.load(tx, changed);
  const current = new Map<string, VoucherTemplate>();
  for (const [key, { projectId, voucherId, definitionVersion }] of usages) {
    const template = templates.byVersion(projectId, voucherId, definitionVersion);
    if (template !== undefined) current.set(key, template);
  }
  const byId: Templates["byId"] = (projectId, voucherId) =>
    current.get(rowKey(projectId, voucherId)) ?? templates.byId(projectId, voucherId);
  if (changed.length === 0) return { templates: { byId }, commands };

  const carryOver = (projectId: string, part: Part): Part => {
    if (part.voucherId === null) return part;
    const decidedOn = templates.byVersion(projectId, part.voucherId, part.definitionVersion);
    const now = current.get(rowKey(projectId, part.voucherId));
    if (decidedOn === undefined || now === undefined) return part;
    if (!decidesAlike(decidedOn.definition, now.definition)) return part;
    return { ...part, definitionVersion: now.definition.version };
  };
  return {
    templates: { byId },
    commands: commands.map((command) => ({
      ...command,
      parts: command.parts.map((part) => carryOver(command.projectId, part)),
    })),
  };
}

type Batch = {
  readonly commands: readonly Command[];
  readonly usages: ReadonlyMap<string, VoucherUsage>;
};

function findChanged(templates: Templates, { commands, usages }: Batch) {
  return commands.flatMap(({ projectId, parts }) =>
    parts.flatMap(({ voucherId: id, definitionVersion }) => {
      if (id === null) return [];
      const version = usages.get(rowKey(projectId, id))?.definitionVersion;
      if (version === undefined || version === definitionVersion) return [];
      if (templates.byVersion(projectId, id, definitionVersion) === undefined) return [];
      return { projectId, id, version };
    }),
  );
}

/** Whatever is added to definitions counts, unless it is named here. */
function decidesAlike(a: VoucherDefinition, b: VoucherDefinition): boolean {
  const neutral = { additionalInfo: null, updatedAt: null, version: 0n };
  return isDeepStrictEqual({ ...a, ...neutral }, { ...b, ...neutral });
}
