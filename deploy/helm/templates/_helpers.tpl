{{- define "seatgate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* The name of every object: the release's, with "seatgate" unless the release has it in its name. */}}
{{- define "seatgate.fullname" -}}
{{- $name := include "seatgate.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* A selector can't be changed later: nothing that an update changes. */}}
{{- define "seatgate.selector" -}}
app.kubernetes.io/name: {{ include "seatgate.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "seatgate.labels" -}}
{{ include "seatgate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 }}
{{- end -}}

{{/* gateway.config.yaml. The schema of the values refuses a `config` with one of these keys. */}}
{{- define "seatgate.config" -}}
# Every address, of IPv6 too; of IPv4 alone where the node has no IPv6.
listen:
  {{- range .Values.listen }}
  - address: '[::]:{{ .port }}'
    {{- with .tls }}
    tls: {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- if .http2 }}
    http2: true
    {{- end }}
  {{- end }}
# seatgate: accept ops_open
ops: '[::]:9090'
{{- with .Values.decision }}
{{- if .enabled }}
decision:
  listen: '[::]:9191'
  clients: {{- toYaml .clients | nindent 4 }}
  {{- with .url }}
  url: {{ . | quote }}
  {{- end }}
{{- end }}
{{- end }}
store: ${SEATGATE_STORE}
{{- if .Values.redis }}
redis: ${SEATGATE_REDIS}
{{- end }}
startup_timeout: {{ .Values.startupTimeout }}s
drain_delay: {{ .Values.drainDelay }}s
drain: {{ .Values.drain }}s
tenants:
  {{- toYaml .Values.tenants | nindent 2 }}
upstreams:
  {{- toYaml .Values.upstreams | nindent 2 }}
{{- if .Values.routes }}
routes: ['*.routes.yaml']
{{- end }}
{{- with .Values.config }}
{{ toYaml . }}
{{- end }}
{{- end -}}
