/** What gives users their Seats in the tenant, in the words of the pages: the latest sign-in, or SCIM groups. */

import { signedIn } from './credentials.js'

const TEXTS = {
  users: [
    'Users who have signed in, or are known by SCIM or by a grant, with the Seats of their latest sign-in.',
    'Users whom SCIM or a grant makes known, or who have signed in, with the Seats that their groups give now.',
  ],
  groups: [
    'They give nothing: users have the Seats of their latest sign-in, as seats_from is not scim.',
    'Active members have the Seat of the same name, if there is one.',
  ],
  noSeat: ['The latest sign-in carried none.', 'No group of the user has the name of a Seat.'],
  members: [
    'Users whose latest sign-in carried the Seat. That may be long ago.',
    'Exact: the active users who are in the group of its name now.',
  ],
  noMember: [
    'No user whose latest sign-in carried the Seat.',
    'No active user is in a group with the name of the Seat.',
  ],
  untouched: [
    'No user whose latest sign-in carried the Seat, and no valid API key.',
    'No active user is in a group with the name of the Seat, and no valid API key holds it.',
  ],
  explained: [
    'With the Seats of the latest sign-in, and those of grants.',
    'With the Seats that groups and grants give now.',
  ],
}

/** @param {keyof typeof TEXTS} about */
export function givenBy(about) {
  return TEXTS[about][signedIn.value?.byGroups ? 1 : 0]
}
