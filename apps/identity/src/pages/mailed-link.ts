import { HttpError } from '@tessera/http-kit';

/** The result, or null if the link is invalid. */
export const nullIfInvalid = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof HttpError && error.status === 422) return null;
    throw error;
  }
};
