/** nginx with the configuration of the manual. */

import { join } from 'node:path'
import t from 'tap'
import { startBeside } from './beside.ts'
import { besideCases } from './beside-cases.ts'

const beside = await startBeside(t, (block) => ({
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
}))

besideCases(beside, 'nginx')
