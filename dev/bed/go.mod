module github.com/nexus-operator/nexus-operator/dev/bed

go 1.26.0
