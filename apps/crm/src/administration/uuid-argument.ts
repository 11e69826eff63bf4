import { isUuid } from '@tessera/fields';
import { InvalidArgumentError } from 'commander';

/** An id that is an argument of a command, as the database writes it. */
export const uuidArgument = (given: string): string => {
  if (!isUuid(given)) throw new InvalidArgumentError('It must be a UUID.');
  return given.toLowerCase();
};
