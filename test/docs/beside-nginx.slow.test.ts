/** nginx with the configuration of the manual. */

import { join } from 'node:path'
import type { FilesOf } from './beside.ts'
import { besideCases } from './beside-cases.ts'

const files: FilesOf = (block) => ({
  program: 'nginx',
  files: (folder) => ({
    'nginx.conf': `daemon off; pid ${folder}/pid; error_log stderr; worker_processes 1; ${process.getuid?.() === 0 ? 'user root;' : ''}
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
${block('nginx')}
}`,
  }),
  args: (folder) => ['-c', join(folder, 'nginx.conf'), '-e', 'stderr'],
})

await besideCases(files, 'nginx')
