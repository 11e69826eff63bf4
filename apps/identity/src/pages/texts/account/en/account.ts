import { actions } from './actions.ts';
import { activity } from './activity.ts';
import { apps } from './apps.ts';
import { devices } from './devices.ts';
import { email } from './email.ts';
import { frame } from './frame.ts';
import { notMe } from './not-me.ts';
import { overview } from './overview.ts';
import { profile } from './profile.ts';
import { tenants } from './tenants.ts';

/** The texts of the account pages; each language has the same files. */
export const account = {
  <<<<<<< HEAD
  email,
  =======
  frame,
  >>>>>>> 4237527 (People see the organizations they belong to,
  actions,
  activity,
  apps,
  devices,
  frame,
  notMe,
  overview,
  profile,
  switch between them and leave them),
  tenants,
};
