import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { requestId } from "@scrip/ids";
import {
  type CategoryAnswer,
  type CategoryQuerySchema,
  CategoryService,
} from "@scrip/proto/scrip/campaign/v1/categories_pb";
import {
  type CustomerAnswer,
  type CustomerQuerySchema,
  CustomerService,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import {
  CommitRedemptionsRequestSchema,
  type CommitOutcome,
  GatherVouchersRequestSchema,
  RedemptionService,
  type RedemptionCommand,
  type VoucherAnswer,
  type VoucherQuery,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { batchCall, type Call, clientOf, createCoalescer, REQUEST_DEADLINE_MS } from "@scrip/rpc";

/** One function per question to another service; what is asked at the same time travels together. */
export type Clients = {
  readonly gatherVouchers: (query: VoucherQuery) => Promise<VoucherAnswer>;
  readonly commitRedemption: (command: RedemptionCommand) => Promise<CommitOutcome>;
  readonly resolveCustomer: (
    query: MessageInitShape<typeof CustomerQuerySchema>,
  ) => Promise<CustomerAnswer>;
  readonly resolveCategory: (
    query: MessageInitShape<typeof CategoryQuerySchema>,
  ) => Promise<CategoryAnswer>;
};

export type Transports = {
  readonly voucher: Transport;
  readonly campaign: Transport;
  readonly loyalty: Transport;
};

/** Beyond these a caller is refused rather than kept waiting (design/reliability.md §2.4). */
const BATCH = { maxBatch: 500, maxWaiting: 20_000 };

export function createClients(
  transports: Transports,
  onBatch: (name: string, size: number) => void,
): Clients {
  const redemptions = clientOf(RedemptionService, transports.voucher);
  const customers = clientOf(CustomerService, transports.loyalty);
  const categories = clientOf(CategoryService, transports.campaign);
  return {
    gatherVouchers: createCoalescer({
      ...BATCH,
      lanes: 2,
      onBatch: (size) => onBatch("gather_vouchers", size),
      send: async (queries: readonly VoucherQuery[]) => {
        const request = { $typeName: GatherVouchersRequestSchema.typeName, queries: [...queries] };
        return (await redemptions.gatherVouchers(request, ownCall())).answers;
      },
    }),
    commitRedemption: createCoalescer({
      ...BATCH,
      // One lane is about a tenth faster, since its batches are larger. With two, a voucher that
      // somebody else holds stops one batch, and not all redemptions of the process.
      lanes: 2,
      onBatch: (size) => onBatch("commit_redemptions", size),
      send: async (commands: readonly RedemptionCommand[]) => {
        const request = {
          $typeName: CommitRedemptionsRequestSchema.typeName,
          commands: [...commands],
        };
        return (await redemptions.commitRedemptions(request, ownCall())).outcomes;
      },
    }),
    resolveCustomer: createCoalescer({
      ...BATCH,
      lanes: 2,
      onBatch: (size) => onBatch("resolve_customers", size),
      send: async (queries: readonly MessageInitShape<typeof CustomerQuerySchema>[]) =>
        (await customers.resolveCustomers({ queries: [...queries] }, ownCall())).answers,
    }),
    resolveCategory: createCoalescer({
      ...BATCH,
      lanes: 2,
      onBatch: (size) => onBatch("resolve_categories", size),
      send: async (queries: readonly MessageInitShape<typeof CategoryQuerySchema>[]) =>
        (await categories.resolveCategories({ queries: [...queries] }, ownCall())).answers,
    }),
  };
}

/** A batch is nobody's request: its items carry their projects, times and request ids. */
function ownCall(): Call {
  const now = Date.now();
  return batchCall(requestId(), now + REQUEST_DEADLINE_MS, now);
}
