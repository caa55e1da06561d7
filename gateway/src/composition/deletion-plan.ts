import type { DescMessage, Message } from "@bufbuild/protobuf";
import { ruleOf } from "@scrip/contract";

import type { MessageFields } from "./step.ts";

/** The object that a request deletes, where validation rules may refer to it. */
export type DeletionPlan = {
  /** Local name of the field that holds the id. */
  readonly field: string;
  readonly type: string;
  readonly references: "block_deletion" | "are_deleted";
};

const REFERENCES: Readonly<Record<string, DeletionPlan["references"]>> = {
  segment: "block_deletion",
  promotion_tier: "are_deleted",
  reward_assignment: "are_deleted",
  category: "are_deleted",
};

export function planDeletion(desc: DescMessage): DeletionPlan | undefined {
  const field = desc.fields.find((each) => ruleOf(each).deletes !== "");
  if (field === undefined) return undefined;
  const type = ruleOf(field).deletes;
  const references = REFERENCES[type];
  if (references === undefined)
    throw new Error(`${desc.typeName} deletes the unknown type ${type}`);
  return { field: field.localName, type, references };
}

export const deletedId = ({ field }: DeletionPlan, message: Message): string =>
  (message as MessageFields)[field] as string;
