/** Fewer open files than the connections may need. The gateway goes on: this is for the log. */

import type { SettingSource } from '../../config/config.ts'
import { describeFault, settingOf } from './fault.ts'

/** @param source of `limits.connections` */
export function fileShortage(source: SettingSource, allowed: number, needed: number): string {
  return describeFault(source, {
    cause: `connections of clients and upstreams may need ${needed} open files a process, but the limit is ${allowed}`,
    advice: `Raise the limit ("ulimit -n ${needed}", or LimitNOFILE=${needed} in the systemd unit), or lower ${settingOf(source)}`,
  })
}
