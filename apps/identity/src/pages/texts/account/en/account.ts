import { actions } from './actions.ts';
import { frame } from './frame.ts';
import { overview } from './overview.ts';

/** The texts of the account pages; each language has the same files. */
export const account = { actions, frame, overview };
