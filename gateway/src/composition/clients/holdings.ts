import type { Transport } from "@connectrpc/connect";
import {
  type Holdings as CustomerHoldings,
  type HoldingsQuery,
  PublicationService,
} from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { clientOf, createCoalescer, serviceCall } from "@scrip/rpc";

/** What customers hold; lookups of concurrent requests are sent together. */
export type Holdings = {
  find(
    projectId: string,
    customerIds: readonly string[],
  ): Promise<ReadonlyMap<string, CustomerHoldings>>;
};

const BATCH = { lanes: 2, maxBatch: 500, maxWaiting: 10_000 };

export function createHoldingsClient(transport: Transport): Holdings {
  const client = clientOf(PublicationService, transport);
  const lookUp = createCoalescer<HoldingsQuery, CustomerHoldings>({
    ...BATCH,
    async send(queries) {
      const request = {
        $typeName: "scrip.voucher.v1.SummarizeHoldingsRequest" as const,
        queries: [...queries],
      };
      return (await client.summarizeHoldings(request, serviceCall())).results;
    },
  });
  return {
    async find(projectId, customerIds) {
      const found = await Promise.all(
        customerIds.map(async (customerId) => {
          const query = {
            $typeName: "scrip.voucher.v1.HoldingsQuery" as const,
            projectId,
            customerId,
          };
          return [customerId, await lookUp(query)] as const;
        }),
      );
      return new Map(found);
    },
  };
}
