/** A request of the writer of a run. */

import type { Sent } from '../remote/gateway-client.ts'

export interface CycleRequest extends Sent {
  readonly path: string
  /** The space: blocks and sessions belong to the admin space. */
  readonly at: 'manage' | 'admin'
}
