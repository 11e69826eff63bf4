import { HttpError } from '@tessera/http-kit';

/** Null in the place of a link that is good for nothing. */
export const unlessDead = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof HttpError && error.status === 422) return null;
    throw error;
  }
};
