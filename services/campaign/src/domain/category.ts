export type Category = {
  readonly id: string;
  readonly name: string;
  /** The lower one is applied first. */
  readonly hierarchy: bigint;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
};
