import type { Restriction } from '../tokens/caller.ts';

/** The page that lifts each restriction. */
export const restrictionPages: Readonly<Partial<Record<Restriction, string>>> = {
  pin_required: '/pin',
  email_verification_required: '/email/confirm',
  password_change_required: '/password/change',
};
