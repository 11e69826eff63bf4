import { actions } from './actions.ts';
import { activity } from './activity.ts';
import { frame } from './frame.ts';
import { notMe } from './not-me.ts';
import { overview } from './overview.ts';

export const account = { actions, activity, frame, overview, notMe };
