import { textThreads } from '../text-threads.ts';
import { diffTexts, type TextDiff } from './text-diff.ts';

/** Shorter texts are compared at once, which takes some milliseconds at most. */
const SHORT = 500;

/** Compares two texts of a tenant as `diffTexts` does, long ones in a thread: 429 and 503 as `TextThreads.run`. */
export const compareTexts = async (tenant: string, from: string, to: string): Promise<TextDiff> => {
  const characters = from.length + to.length;
  if (characters <= SHORT) return diffTexts(from, to);
  return textThreads().run(tenant, 'diff', { from, to }, characters);
};
