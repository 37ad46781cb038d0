/** HAProxy with the configuration and the script of the manual. */

import { join } from 'node:path'
import type { FilesOf } from './beside.ts'
import { besideCases } from './beside-cases.ts'

const files: FilesOf = (block) => ({
  program: 'haproxy',
  files: (folder) => ({
    'seatgate.lua': block('lua'),
    'haproxy.cfg': block('haproxy').replace('/etc/haproxy', folder),
  }),
  args: (folder) => ['-db', '-f', join(folder, 'haproxy.cfg')],
})

await besideCases(files, 'forward')
