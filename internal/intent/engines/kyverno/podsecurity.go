// SPDX-License-Identifier: Apache-2.0

package kyverno

// control is one control of a Pod Security Standard, in CEL over a pod.
type control struct{ message, expression string }

// controlsOf are the controls of a Pod Security Standard. The variables containers, contexts and podContext hold all containers,
// their security contexts, and that of the pod.
// https://kubernetes.io/docs/concepts/security/pod-security-standards/
func controlsOf(level string) []control {
	if level == "restricted" {
		return append(baselineControls(), restrictedControls()...)
	}
	return baselineControls()
}

func baselineControls() []control {
	return []control{
		{"hostNetwork, hostPID and hostIPC are not allowed",
			"!object.spec.?hostNetwork.orValue(false) && !object.spec.?hostPID.orValue(false) && !object.spec.?hostIPC.orValue(false)"},
		{"privileged containers are not allowed", "variables.contexts.all(s, !s.?privileged.orValue(false))"},
		{"HostProcess containers are not allowed",
			"!variables.podContext.?windowsOptions.?hostProcess.orValue(false) && variables.contexts.all(s, !s.?windowsOptions.?hostProcess.orValue(false))"},
		{"only the usual capabilities may be added",
			"variables.contexts.all(s, s.?capabilities.?add.orValue([]).all(c, c in ['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', " +
				"'MKNOD', 'NET_BIND_SERVICE', 'SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT']))"},
		{"hostPath volumes are not allowed", "object.spec.?volumes.orValue([]).all(v, !has(v.hostPath))"},
		{"host ports are not allowed", "variables.containers.all(c, c.?ports.orValue([]).all(p, p.?hostPort.orValue(0) == 0))"},
		{"probes and lifecycle hooks of another host are not allowed",
			"variables.containers.all(c, [c.?livenessProbe, c.?readinessProbe, c.?startupProbe, c.?lifecycle.?postStart, c.?lifecycle.?preStop]" +
				".all(h, h.?httpGet.?host.orValue('') == '' && h.?tcpSocket.?host.orValue('') == ''))"},
		{"AppArmor must not be switched off",
			"([variables.podContext] + variables.contexts).all(s, s.?appArmorProfile.?type.orValue('RuntimeDefault') in ['RuntimeDefault', 'Localhost']) && " +
				"object.metadata.?annotations.orValue({}).all(k, !k.startsWith('container.apparmor.security.beta.kubernetes.io/') || object.metadata.annotations[k] in ['', 'runtime/default'] || " +
				"object.metadata.annotations[k].startsWith('localhost/'))"},
		{"SELinux options are those of containers",
			"([variables.podContext] + variables.contexts).all(s, s.?seLinuxOptions.?type.orValue('') in ['', 'container_t', 'container_init_t', 'container_kvm_t', " +
				"'container_engine_t'] && s.?seLinuxOptions.?user.orValue('') == '' && s.?seLinuxOptions.?role.orValue('') == '')"},
		{"procMount must be Default", "variables.contexts.all(s, s.?procMount.orValue('Default') == 'Default')"},
		{"seccomp must not be Unconfined",
			"([variables.podContext] + variables.contexts).all(s, s.?seccompProfile.?type.orValue('RuntimeDefault') in ['RuntimeDefault', 'Localhost'])"},
		{"only safe sysctls are allowed",
			"variables.podContext.?sysctls.orValue([]).all(s, s.name in ['kernel.shm_rmid_forced', 'net.ipv4.ip_local_port_range', 'net.ipv4.ip_unprivileged_port_start', " +
				"'net.ipv4.tcp_syncookies', 'net.ipv4.ping_group_range', 'net.ipv4.ip_local_reserved_ports', 'net.ipv4.tcp_keepalive_time', 'net.ipv4.tcp_fin_timeout', " +
				"'net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes', 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'])"},
	}
}

func restrictedControls() []control {
	return []control{
		{"only volumes without access to the host are allowed",
			"object.spec.?volumes.orValue([]).all(v, has(v.configMap) || has(v.csi) || has(v.downwardAPI) || has(v.emptyDir) || has(v.ephemeral) || " +
				"has(v.image) || has(v.persistentVolumeClaim) || has(v.projected) || has(v.secret))"},
		{"allowPrivilegeEscalation must be false", "variables.contexts.all(s, !s.?allowPrivilegeEscalation.orValue(true))"},
		{"runAsNonRoot must be true", "variables.contexts.all(s, s.?runAsNonRoot.orValue(variables.podContext.?runAsNonRoot.orValue(false)))"},
		{"runAsUser must not be 0", "([variables.podContext] + variables.contexts).all(s, s.?runAsUser.orValue(1) != 0)"},
		{"a seccomp profile is needed",
			"variables.contexts.all(s, s.?seccompProfile.?type.orValue(variables.podContext.?seccompProfile.?type.orValue('')) in ['RuntimeDefault', 'Localhost'])"},
		{"all capabilities must be dropped, and only NET_BIND_SERVICE may be added",
			"variables.contexts.all(s, 'ALL' in s.?capabilities.?drop.orValue([]) && s.?capabilities.?add.orValue([]).all(c, c == 'NET_BIND_SERVICE'))"},
	}
}
