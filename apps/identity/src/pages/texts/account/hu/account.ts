import { actions } from './actions.ts';
import { frame } from './frame.ts';
import { overview } from './overview.ts';

export const account = { actions, frame, overview };
