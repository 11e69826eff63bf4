import { actions } from './actions.ts';
import { activity } from './activity.ts';
import { apps } from './apps.ts';
import { data } from './data.ts';
import { devices } from './devices.ts';
import { email } from './email.ts';
import { frame } from './frame.ts';
import { notMe } from './not-me.ts';
import { overview } from './overview.ts';
import { password } from './password.ts';
import { pin } from './pin.ts';
import { profile } from './profile.ts';
import { tenants } from './tenants.ts';
import { twoFactor } from './two-factor.ts';

export const account = {
  actions,
  activity,
  apps,
  data,
  devices,
  email,
  frame,
  notMe,
  overview,
  password,
  pin,
  profile,
  tenants,
  twoFactor,
};
