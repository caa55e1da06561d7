import { create, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Address } from "@scrip/proto/scrip/common/v1/customer_pb";
import {
  type CustomerProfile as ProfileMessage,
  CustomerProfileSchema,
  type CustomerSummary,
  type StoredCustomerSchema,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";

import {
  ADDRESS_FIELDS,
  averageOf,
  type CustomerCounts,
  type CustomerProfile,
  type ReferralFigures,
} from "../domain/customer.ts";
import type { StoredCustomer } from "../store/customers.ts";

/** Points, campaigns and gift credits are filled in by the gateway (services/decisions/0023). */
export function customerToProto(
  customer: CustomerProfile,
  { referrals, referredCustomers, referredByCampaign }: ReferralFigures = NO_REFERRALS,
  tierByCampaign: Readonly<Record<string, string>> = {},
): ProfileMessage {
  const { sourceId, name, description, email, phone, birthdate, createdAt, updatedAt } = customer;
  return create(CustomerProfileSchema, {
    id: customer.id,
    ...(sourceId !== null && { sourceId }),
    ...(name !== null && { name }),
    ...(description !== null && { description }),
    ...(email !== null && { email }),
    ...(phone !== null && { phone }),
    ...(birthdate !== null && { birthdate, birthday: birthdate }),
    ...(hasAddress(customer) && { address: addressToProto(customer) }),
    metadata: customer.metadata as JsonObject,
    systemMetadata: {},
    summary: summaryToProto(customer.summary),
    loyalty: { points: 0n, referredCustomers, referredByCampaign, tierByCampaign },
    referrals: {
      total: BigInt(referrals.length),
      campaigns: referrals.map(({ campaignId, referrerId, relatedObject, at }) => ({
        campaignId,
        referrerId,
        relatedObjectId: relatedObject.id,
        relatedObjectType: relatedObject.type,
        date: timestampFromDate(at),
      })),
    },
    assets: {},
    createdAt: timestampFromDate(createdAt),
    ...(updatedAt !== null && { updatedAt: timestampFromDate(updatedAt) }),
  });
}

const NO_REFERRALS: ReferralFigures = {
  referrals: [],
  referredCustomers: 0n,
  referredByCampaign: {},
};

const hasAddress = (customer: CustomerProfile): boolean =>
  ADDRESS_FIELDS.some((field) => customer[field] !== null);

function addressToProto(customer: CustomerProfile): Address {
  const { city, state, line_1, line_2, country, postal_code } = customer;
  return {
    $typeName: "scrip.common.v1.Address",
    ...(city !== null && { city }),
    ...(state !== null && { state }),
    ...(line_1 !== null && { line1: line_1 }),
    ...(line_2 !== null && { line2: line_2 }),
    ...(country !== null && { country }),
    ...(postal_code !== null && { postalCode: postal_code }),
  };
}

function summaryToProto(counts: CustomerCounts): CustomerSummary {
  const { redemptions, orders, ordersAmount, lastOrder } = counts;
  return {
    $typeName: "scrip.loyalty.v1.CustomerSummary",
    redemptions: {
      $typeName: "scrip.loyalty.v1.CustomerRedemptions",
      totalRedeemed: redemptions,
      totalFailed: counts.failed,
      totalSucceeded: redemptions,
      totalRolledBack: counts.rolledBack,
      totalRollbackFailed: counts.rollbacksRejected,
      totalRollbackSucceeded: counts.rolledBack,
      gift: {
        $typeName: "scrip.loyalty.v1.CustomerGift",
        redeemedAmount: counts.giftAmount,
        amountToGo: 0n,
      },
      loyaltyCard: {
        $typeName: "scrip.loyalty.v1.CustomerLoyaltyCard",
        redeemedPoints: 0n,
        pointsToGo: 0n,
      },
    },
    orders: {
      $typeName: "scrip.loyalty.v1.CustomerOrders",
      totalAmount: ordersAmount,
      totalCount: orders,
      averageAmount: averageOf(ordersAmount, orders),
      lastOrderAmount: lastOrder?.amount ?? 0n,
      ...(lastOrder !== null && { lastOrderDate: timestampFromDate(lastOrder.at) }),
    },
  };
}

/** The part of a customer that decisions read. */
export function storedCustomerToProto(
  customer: StoredCustomer,
): MessageInitShape<typeof StoredCustomerSchema> {
  return {
    id: customer.id,
    metadata: customer.metadata as JsonObject,
    ...(customer.sourceId !== null && { sourceId: customer.sourceId }),
    ...(customer.name !== null && { name: customer.name }),
    ...(customer.email !== null && { email: customer.email }),
    ...(customer.birthdate !== null && { birthdate: customer.birthdate }),
  };
}
