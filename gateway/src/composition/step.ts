import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { Side } from "@scrip/contract";
import type { NewId } from "@scrip/ids";
import type { Call } from "@scrip/rpc";

import type { FindSchemas } from "../metadata-schemas/metadata-schema-cache.ts";
import type { FollowProject } from "../projects/follow-project.ts";
import type { CampaignActions } from "./clients/campaign-actions.ts";
import type { Campaigns } from "./clients/campaigns.ts";
import type { Categories } from "./clients/categories.ts";
import type { CustomEvents } from "./clients/custom-events.ts";
import type { DueJobs } from "./clients/due-jobs.ts";
import type { EarningRules } from "./clients/earning-rules.ts";
import type { Holdings } from "./clients/holdings.ts";
import type { ReferralTiers } from "./clients/referral-tiers.ts";
import type { Rewards } from "./clients/rewards.ts";
import type { Segments } from "./clients/segments.ts";
import type { Units } from "./clients/units.ts";
import type { ValidationRules } from "./clients/validation-rules.ts";
import type { Vouchers } from "./clients/vouchers.ts";
import type { Webhooks } from "./clients/webhooks.ts";

/** Sends a request message to the owning service and returns its response. */
export type Invoke = (message: Message, call: Call) => Promise<Message>;

/** The endpoint that a step is compiled for. */
export type Target = {
  readonly rpc: DescMethodUnary;
  readonly httpMethod: string;
  readonly side: Side;
};

/** Dependencies of the steps. A client is undefined where the gateway has no connection to its service. */
export type CompositionDeps = {
  readonly campaigns: Campaigns | undefined;
  readonly campaignActions: CampaignActions | undefined;
  readonly categories: Categories | undefined;
  readonly validationRules: ValidationRules | undefined;
  readonly units: Units | undefined;
  readonly holdings: Holdings | undefined;
  readonly vouchers: Vouchers | undefined;
  readonly rewards: Rewards | undefined;
  readonly segments: Segments | undefined;
  readonly referralTiers: ReferralTiers | undefined;
  readonly customEvents: CustomEvents | undefined;
  readonly dueJobs: DueJobs | undefined;
  readonly earningRules: EarningRules | undefined;
  readonly webhooks: Webhooks | undefined;
  readonly followProject: FollowProject;
  readonly findSchemas: FindSchemas;
  /** Ids for objects that the request creates; for one with an idempotency key, the same at each repetition. */
  readonly reserveIds: (call: Call) => Promise<NewId>;
};

/** Compiled once per endpoint at start-up; undefined where the endpoint does not need the step. */
export type CompileStep = (
  target: Target,
  deps: CompositionDeps,
) => ((next: Invoke) => Invoke) | undefined;

// Only plans, which are compiled from descriptors, use message types; steps use records of fields.
export type Fields = Record<string, unknown>;
export type MessageFields = Message & Fields;
