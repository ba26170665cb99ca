{{- define "steward.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "steward.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "steward.labels" -}}
{{ include "steward.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* What servers and workers have in common: who they are, what they know, what they may not do. */}}
{{- define "steward.pod" -}}
serviceAccountName: {{ include "steward.name" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "steward.container" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
envFrom:
  - secretRef: {name: {{ .Values.secrets.settings | quote }}}
env:
  - {name: STEWARD_HTTP__PORT, value: {{ .Values.service.port | quote }}}
  - {name: STEWARD_HTTP__PUBLIC_URL, value: {{ .Values.publicUrl | quote }}}
  - {name: STEWARD_HTTP__TRUSTED_PROXIES, value: {{ .Values.trustedProxies | toJson | quote }}}
  - {name: STEWARD_IDENTITY__FIRST_OWNER, value: {{ .Values.firstOwner | quote }}}
  - {name: STEWARD_RUNS__IN_SERVER, value: "false"}
  - {name: STEWARD_BLOBS__URL, value: {{ .Values.blobs.url | quote }}}
  - {name: STEWARD_BLOBS__ENDPOINT, value: {{ .Values.blobs.endpoint | quote }}}
  - {name: STEWARD_BLOBS__REGION, value: {{ .Values.blobs.region | quote }}}
  - {name: STEWARD_BLOBS__CREATE_BUCKET, value: {{ .Values.blobs.createBucket | quote }}}
  - {name: STEWARD_LOG__FORMAT, value: json}
  {{- range $name, $value := .Values.settings }}
  - {name: {{ $name }}, value: {{ $value | quote }}}
  {{- end }}
volumeMounts:
  - {name: home, mountPath: /var/lib/steward}
  - {name: keys, mountPath: /var/lib/steward/keys, readOnly: true}
  - {name: tmp, mountPath: /tmp}
{{- end }}

{{- define "steward.volumes" -}}
- name: home
  emptyDir: {sizeLimit: {{ .scratch }}}
- name: keys
  secret: {secretName: {{ .root.Values.secrets.keys | quote }}, defaultMode: 0440}
- name: tmp
  emptyDir: {sizeLimit: 2Gi}
{{- end }}
