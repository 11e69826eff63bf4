import type { Restriction } from '../tokens/caller.ts';

/** The page where what is left to do is done, by restriction. */
export const unfinished: Readonly<Partial<Record<Restriction, string>>> = {
  pin_required: '/pin',
  email_verification_required: '/email/confirm',
  password_change_required: '/password/change',
};
