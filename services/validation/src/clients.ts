import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { instantToProto } from "@scrip/mapping";
import {
  type CampaignResult,
  type CampaignQuerySchema,
  CampaignService,
  type ListCampaignsRequestSchema,
  type ListCampaignsResponse,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import {
  type CategoryResult,
  type CategoryQuerySchema,
  CategoryService,
} from "@scrip/proto/scrip/campaign/v1/categories_pb";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { ValidationRulesAssignment } from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";
import type {
  CardsResult,
  CardsQuery,
  PointsRelease,
  PointsReservationCommand,
  PointsReservationOutcome,
  HoldPointsCommand,
  HoldPointsOutcome,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import {
  type CustomerResult,
  CustomerResultSchema,
  type CustomerQuerySchema,
  CustomerService,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import {
  EarningRuleService,
  type EstimateEarningsRequestSchema,
  type EstimateEarningsResponse,
  type ListReferencesRequestSchema,
  type ListReferencesResponse,
  type ListValidationRuleAssignmentsRequestSchema,
} from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import type {
  RewardAssignmentQuery,
  RewardAssignmentResult,
} from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import {
  type ListSegmentsRequestSchema,
  type ListSegmentsResponse,
  SegmentService,
} from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import {
  type CandidateResult,
  type CandidateQuerySchema,
  CandidateService,
} from "@scrip/proto/scrip/voucher/v1/candidates_pb";
import {
  CommitRedemptionsRequestSchema,
  type CommitOutcome,
  type CountResult,
  type CountQuery,
  CountRedemptionsRequestSchema,
  LoadVouchersRequestSchema,
  type Redemption,
  RedemptionService,
  type RedemptionCommand,
  type ReservationCommand,
  type ReservationOutcome,
  ReserveVouchersRequestSchema,
  type PointsHoldKey,
  type RollbackCommand,
  type RollbackOutcome,
  CommitRollbacksRequestSchema,
  type VoucherResult,
  type VoucherQuery,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import {
  type ListVouchersRequestSchema,
  type ListVouchersResponse,
  VoucherService,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import {
  type Call,
  type Client,
  clientOf,
  createCallCoalescer,
  orIfUnimplemented,
  serviceCall,
} from "@scrip/rpc";

import { mayBeOneBadItem } from "./clients/batch-failure.ts";
import {
  type Batched,
  type Deadline,
  WITHOUT_SINGLE_RETRY,
  type Transports,
} from "./clients/batching.ts";
import { cardClients } from "./clients/cards.ts";

/** One function per call to another service; concurrent calls are sent in one batch. */
export type Clients = {
  readonly loadVouchers: (query: VoucherQuery, caller: Deadline) => Promise<VoucherResult>;
  readonly listCandidates: (
    query: MessageInitShape<typeof CandidateQuerySchema>,
    caller: Deadline,
  ) => Promise<CandidateResult>;
  readonly countRedemptions: (query: CountQuery, caller: Deadline) => Promise<CountResult>;
  readonly commitRedemption: (
    command: RedemptionCommand,
    caller: Deadline,
  ) => Promise<CommitOutcome>;
  readonly reserveVouchers: (
    command: ReservationCommand,
    caller: Deadline,
  ) => Promise<ReservationOutcome>;
  readonly commitRollback: (command: RollbackCommand, caller: Deadline) => Promise<RollbackOutcome>;
  /** Rejects with `not_found`. */
  readonly getRedemption: (redemptionId: string, call: Call) => Promise<Redemption>;
  readonly resolveCustomer: (
    query: MessageInitShape<typeof CustomerQuerySchema>,
    caller: Deadline,
  ) => Promise<CustomerResult>;
  /** Creates or updates a customer. */
  readonly upsertCustomer: (customer: Customer, call: Call) => Promise<CustomerResult>;
  readonly listSegments: (
    request: MessageInitShape<typeof ListSegmentsRequestSchema>,
    call: Call,
  ) => Promise<ListSegmentsResponse>;
  readonly listVouchers: (
    request: MessageInitShape<typeof ListVouchersRequestSchema>,
    call: Call,
  ) => Promise<ListVouchersResponse>;
  readonly estimateEarnings: (
    request: MessageInitShape<typeof EstimateEarningsRequestSchema>,
    call: Call,
  ) => Promise<EstimateEarningsResponse>;
  readonly listReferences: (
    request: MessageInitShape<typeof ListReferencesRequestSchema>,
    call: Call,
  ) => Promise<ListReferencesResponse>;
  /** Validation rules of earning rules, which loyalty stores. */
  readonly listEarningRuleAssignments: (
    request: MessageInitShape<typeof ListValidationRuleAssignmentsRequestSchema>,
    call: Call,
  ) => Promise<readonly ValidationRulesAssignment[]>;
  readonly loadCards: (query: CardsQuery, caller: Deadline) => Promise<CardsResult>;
  readonly holdPoints: (command: HoldPointsCommand, caller: Deadline) => Promise<HoldPointsOutcome>;
  readonly reservePoints: (
    command: PointsReservationCommand,
    caller: Deadline,
  ) => Promise<PointsReservationOutcome>;
  readonly releasePoints: (release: PointsRelease) => Promise<void>;
  readonly resolveRewardAssignment: (
    name: RewardAssignmentQuery,
    caller: Deadline,
  ) => Promise<RewardAssignmentResult>;
  /** Releases a points hold whose redemption was not committed. */
  readonly releasePointsHold: (spend: PointsHoldKey) => Promise<void>;
  readonly resolveCampaigns: (
    query: MessageInitShape<typeof CampaignQuerySchema>,
    caller: Deadline,
  ) => Promise<CampaignResult>;
  readonly listCampaigns: (
    request: MessageInitShape<typeof ListCampaignsRequestSchema>,
    call: Call,
  ) => Promise<ListCampaignsResponse>;
  readonly resolveCategory: (
    query: MessageInitShape<typeof CategoryQuerySchema>,
    caller: Deadline,
  ) => Promise<CategoryResult>;
};

/** Above this many waiting calls, callers are rejected instead of queued. */
const BATCH = { maxBatch: 500, maxWaiting: 20_000 };

export function createClients(
  transports: Transports,
  onBatch: (name: string, size: number) => void,
): Clients {
  // One lane gives larger batches and about 10 % faster commits. With two, a locked voucher blocks
  // one batch and not all redemptions of the process.
  const batched: Batched = (name, send, more = { isBadItem: mayBeOneBadItem }) =>
    createCallCoalescer({
      ...BATCH,
      ...more,
      lanes: 2,
      onBatch: (size) => onBatch(name, size),
      send,
    });
  return {
    ...redemptionClients(transports.voucher, batched),
    ...campaignClients(transports.campaign, batched),
    ...customerClients(transports.loyalty, batched),
    ...cardClients(transports, batched),
  };
}

function redemptionClients(transport: Transport, batched: Batched) {
  const redemptions = clientOf(RedemptionService, transport);
  const candidates = clientOf(CandidateService, transport);
  const vouchers = clientOf(VoucherService, transport);
  return {
    listVouchers: (request: MessageInitShape<typeof ListVouchersRequestSchema>, call: Call) =>
      vouchers.listVouchers(request, call),
    loadVouchers: batched("load_vouchers", async (queries: readonly VoucherQuery[], call) => {
      const request = { $typeName: LoadVouchersRequestSchema.typeName, queries: [...queries] };
      return (await redemptions.loadVouchers(request, call)).results;
    }),
    listCandidates: batched(
      "list_candidates",
      async (queries: readonly MessageInitShape<typeof CandidateQuerySchema>[], call) =>
        (await candidates.listCandidates({ queries: [...queries] }, call)).results,
    ),
    countRedemptions: batched("count_redemptions", async (queries: readonly CountQuery[], call) => {
      const request = { $typeName: CountRedemptionsRequestSchema.typeName, queries: [...queries] };
      return (await redemptions.countRedemptions(request, call)).results;
    }),
    commitRedemption: commitClient(redemptions, batched),
    reserveVouchers: batched(
      "reserve_vouchers",
      async (commands: readonly ReservationCommand[]) => {
        const request = {
          $typeName: ReserveVouchersRequestSchema.typeName,
          commands: [...commands],
        };
        return (await redemptions.reserveVouchers(request, serviceCall())).outcomes;
      },
      WITHOUT_SINGLE_RETRY,
    ),
    commitRollback: batched(
      "commit_rollbacks",
      async (commands: readonly RollbackCommand[]) => {
        const request = {
          $typeName: CommitRollbacksRequestSchema.typeName,
          commands: [...commands],
        };
        return (await redemptions.commitRollbacks(request, serviceCall())).outcomes;
      },
      WITHOUT_SINGLE_RETRY,
    ),
    getRedemption: (redemptionId: string, call: Call) =>
      redemptions.getRedemption(
        { $typeName: "scrip.voucher.v1.GetRedemptionRequest", redemptionId },
        call,
      ),
  };
}

/** Redemptions of CAMPAIGN rewards have batches of their own, because the response to a batch waits for its rewards. */
function commitClient(redemptions: Client<typeof RedemptionService>, batched: Batched) {
  const commitIn = (name: string) =>
    batched(
      name,
      async (commands: readonly RedemptionCommand[]) => {
        const request = {
          $typeName: CommitRedemptionsRequestSchema.typeName,
          commands: [...commands],
        };
        return (await redemptions.commitRedemptions(request, serviceCall())).outcomes;
      },
      WITHOUT_SINGLE_RETRY,
    );
  const [commit, commitReward] = [
    commitIn("commit_redemptions"),
    commitIn("commit_reward_redemptions"),
  ];
  return (command: RedemptionCommand, caller: Deadline) =>
    (givesCampaignReward(command) ? commitReward : commit)(command, caller);
}

const givesCampaignReward = ({ parts }: RedemptionCommand): boolean =>
  parts.some(({ points }) => points?.reward?.type === "CAMPAIGN");

function campaignClients(transport: Transport, batched: Batched) {
  const campaigns = clientOf(CampaignService, transport);
  const categories = clientOf(CategoryService, transport);
  return {
    resolveCampaigns: batched(
      "resolve_campaigns",
      async (queries: readonly MessageInitShape<typeof CampaignQuerySchema>[], call) =>
        (await campaigns.resolveCampaigns({ queries: [...queries] }, call)).results,
    ),
    resolveCategory: batched(
      "resolve_categories",
      async (queries: readonly MessageInitShape<typeof CategoryQuerySchema>[], call) =>
        (await categories.resolveCategories({ queries: [...queries] }, call)).results,
    ),
    listCampaigns: (request: MessageInitShape<typeof ListCampaignsRequestSchema>, call: Call) =>
      campaigns.listCampaigns(request, call),
  };
}

const NO_ASSIGNMENTS: { readonly assignments: readonly ValidationRulesAssignment[] } = {
  assignments: [],
};

function customerClients(transport: Transport, batched: Batched) {
  const customers = clientOf(CustomerService, transport);
  const segments = clientOf(SegmentService, transport);
  const earningRules = clientOf(EarningRuleService, transport);
  const resolveCustomer = batched(
    "resolve_customers",
    async (queries: readonly MessageInitShape<typeof CustomerQuerySchema>[], call) =>
      (await customers.resolveCustomers({ queries: [...queries] }, call)).results,
  );
  return {
    estimateEarnings: (
      request: MessageInitShape<typeof EstimateEarningsRequestSchema>,
      call: Call,
    ) => earningRules.estimateEarnings(request, call),
    listReferences: (request: MessageInitShape<typeof ListReferencesRequestSchema>, call: Call) =>
      earningRules.listReferences(request, call),
    async listEarningRuleAssignments(
      request: MessageInitShape<typeof ListValidationRuleAssignmentsRequestSchema>,
      call: Call,
    ) {
      const listed = earningRules.listValidationRuleAssignments(request, call);
      return (await orIfUnimplemented(listed, NO_ASSIGNMENTS)).assignments;
    },
    listSegments: (request: MessageInitShape<typeof ListSegmentsRequestSchema>, call: Call) =>
      segments.listSegments(request, call),
    resolveCustomer,
    async upsertCustomer(customer: Customer, call: Call): Promise<CustomerResult> {
      const { project } = call;
      const now = instantToProto(call.now);
      const query = { projectId: project.id, customer, upsert: true, now };
      // A batch has no project: with the request's own call, loyalty publishes what webhooks of the project receive.
      if (project.webhookEvents === undefined) return resolveCustomer(query, call);
      const own = { ...call, idempotency: undefined };
      const { results } = await customers.resolveCustomers({ queries: [query] }, own);
      return results[0] ?? create(CustomerResultSchema);
    },
  };
}
